#!/bin/sh
# Takes the workers up again that a reboot ended: one `csd adopt` for each worker in the last snapshot of tmux-resurrect.
# Run it with --dry-run first.
#
#   examples/recover-workers.sh [--dry-run] [--file SNAPSHOT] [NAME...] [-- claude-args...]
#
# Without NAMEs: every session of the snapshot that has a worker's name and in which Claude Code ran, and those of Codex
# and Pi that csd still knows. What stands behind -- goes to each client, as with `csd adopt`: nobody remembers with what
# arguments it was launched.
#
# A worker's session is the one that csd remembers, else the one on the client's command line, else the newest transcript
# of the worker's folder. That last one is a guess: where a person used Claude Code in that folder, it may be the person's.
#
# Exit code: 0; 1 if an adoption failed or a NAME could not be recovered; 2 for wrong words.
set -u

csd=${CSD:-csd}
projects=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/projects
dry='' file='' names='' taken=' ' finished=' ' failed=0
tab=$(printf '\t')

usage() {
	echo "usage: $0 [--dry-run] [--file SNAPSHOT] [NAME...] [-- claude-args...]" >&2
	exit 2
}

is_name() {
	case $1 in '' | [!A-Za-z0-9]* | *[!A-Za-z0-9_-]*) return 1 ;; esac
}

# newest FILE...: the one that was changed last, of those that are there.
newest() {
	last=
	for candidate; do
		[ -f "$candidate" ] || continue
		if [ -z "$last" ] || [ "$candidate" -nt "$last" ]; then
			last=$candidate
		fi
	done
	printf '%s' "$last"
}

# quoted WORD...: the words as a shell reads them.
quoted() {
	for word; do
		case $word in
		'' | *[!A-Za-z0-9_./:=@%+-]*) printf " '%s'" "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
}

# project FOLDER: where Claude Code keeps the transcripts of a folder. Every character but ASCII letters and digits is a
# "-", and two where UTF-16 has a pair for it. What is longer than 200 is cut and ends in a hash.
project() {
	encoded=$(printf '%s' "$1" | LC_ALL=C sed "s/[$(printf '\360')-$(printf '\364')]/--/g" | LC_ALL=C tr -d '\200-\277' | LC_ALL=C tr -c 'A-Za-z0-9\n' '-')
	if [ ${#encoded} -gt 200 ]; then
		set -- "$projects/$(printf '%.200s' "$encoded")"-*
		[ $# -eq 1 ] && printf '%s' "$1"
		return
	fi
	printf '%s/%s' "$projects" "$encoded"
}

# newest_session FOLDER: the id of the session of Claude Code that was last used there.
newest_session() {
	kept_in=$(project "$1") || return 1
	found=$(newest "$kept_in"/????????-????-????-????-????????????.jsonl) # what has another name is of subagents
	[ -n "$found" ] || return 1
	found=${found##*/}
	printf '%s' "${found%.jsonl}"
}

# of NAME COLUMN: what csd lists of a worker; nothing where it knows none of that name.
of() {
	printf '%s\n' "$fleet" | awk -F "$tab" -v name="$1" -v column="$2" '$3 == name && $column != "-" { print $column }'
}

# known_session NAME ID: the id that is no guess: csd's own, or ID, of the command line, if it has a transcript.
known_session() {
	own=$(of "$1" 4)
	[ -z "$own" ] || { printf '%s' "$own" && return; }
	[ -n "$2" ] || return 1
	set -- "$2" "$projects"/*/"$2".jsonl
	[ -f "$2" ] && printf '%s' "$1"
}

skip() {
	echo "skipped $1: $2" >&2
	case $names in *" $1 "*) failed=1 ;; esac
}

while [ $# -gt 0 ]; do
	case $1 in
	--dry-run) dry=yes ;;
	--file)
		[ $# -gt 1 ] || usage
		file=$2
		shift
		;;
	--) break ;; # it and the rest stay in "$@"
	*)
		is_name "$1" || usage
		names="$names $1 "
		;;
	esac
	shift
done
[ $# -ne 1 ] || shift # nothing behind --
command -v "$csd" >/dev/null || {
	echo "error: there is no $csd; CSD names it" >&2
	exit 1
}
fleet=$("$csd" list --all 2>/dev/null </dev/null) || {
	"$csd" list --all >/dev/null </dev/null # once more, for its words
	exit 1
}
[ -n "$file" ] || file=$(newest "$HOME/.tmux/resurrect/last" "${XDG_DATA_HOME:-$HOME/.local/share}/tmux/resurrect/last")
[ -r "$file" ] || {
	echo "error: no snapshot of tmux-resurrect${file:+ at $file}; --file names one" >&2
	exit 1
}

# In a snapshot, a pane is a line of fields with tabs between. The folder, with a ":" in front, is the eighth of them, or
# the seventh where the title was empty; two behind it is the command, and at the end the whole command line, with a ":".
# Each field that is printed here gets a "=" in front, since `read` passes over empty ones.
panes=$(awk -F "$tab" '
	$1 == "pane" {
		at = $8 ~ /^:\// ? 8 : $7 ~ /^:\// ? 7 : 0
		if (!at) next
		id = ""
		if (match($NF, /(--session-id|--resume)[ =][0-9A-Za-z-]+/)) {
			id = substr($NF, RSTART, RLENGTH)
			sub(/^[^ =]*[ =]/, "", id)
		}
		program = substr($NF, 2)
		sub(/ .*/, "", program)
		sub(/.*\//, "", program)
		print "=" $2 "\t=" $(at + 2) "\t=" program "\t=" id "\t" substr($at, 2)
	}' "$file")

# Which panes are to be looked at, one for each worker; and the sessions that are known belong to their workers.
workers=
while IFS=$tab read -r name command program id dir; do
	name=${name#=} command=${command#=} program=${program#=} id=${id#=}
	case $finished in *" $name "*) continue ;; esac # another pane of the same session
	case $names in '' | *" $name "*) ;; *) continue ;; esac
	case $command in [0-9]*.[0-9]*.[0-9]*) command=claude ;; esac # its program has its version for a name
	if ! is_name "$name"; then
		[ "$command" != claude ] || skip "$name" "that is no name of a worker"
		continue
	fi
	id=$(known_session "$name" "$id")
	case $names in *" $name "*) command=claude ;; esac
	if [ "$command" != claude ] && [ "$program" != claude ] && [ -z "$id" ]; then
		case $command in
		codex | pi) skip "$name" "the sessions of $command are in the homes of its workers, and csd knows none of that name" ;;
		esac
		continue
	fi
	finished="$finished$name "
	[ -z "$id" ] || taken="$taken$id=$name "
	workers="$workers=$name$tab=$id$tab$dir
"
done <<EOF
$panes
EOF

for name in $names; do
	case $finished in *" $name "*) ;; *) skip "$name" "it is not in the snapshot" ;; esac
done

while IFS=$tab read -r name id dir; do
	name=${name#=} id=${id#=}
	[ -n "$name" ] || continue
	case $(of "$name" 1) in '' | gone) ;; *)
		echo "skipped $name: it runs" >&2
		continue
		;;
	esac
	[ -d "$dir" ] || dir=$(printf '%s' "$dir" | sed 's/\\\(.\)/\1/g') # a snapshot has "\ " for a space
	if ! real=$(cd "$dir" 2>/dev/null && pwd -P); then
		skip "$name" "there is no folder $dir"
		continue
	fi
	if [ -z "$id" ] && ! id=$(newest_session "$real"); then
		skip "$name" "Claude Code has no session of $real"
		continue
	fi
	case $taken in
	*" $id=$name "*) ;;
	*" $id="*)
		owner=${taken##*" $id="}
		skip "$name" "the newest session of $real is that of ${owner%% *}; say which: csd adopt $name FOLDER ID"
		continue
		;;
	esac
	taken="$taken$id=$name "
	harness=$(of "$name" 2)
	if [ -n "$dry" ]; then
		echo "would run:$(quoted "$csd" adopt --harness "${harness:-claude}" "$name" "$real" "$id" "$@")"
	elif ! "$csd" adopt --harness "${harness:-claude}" "$name" "$real" "$id" "$@" </dev/null; then
		echo "failed $name: see above" >&2
		failed=1
	fi
done <<EOF
$workers
EOF
exit $failed
