package proc

// Process is one line of the process table.
type Process struct {
	PID, Parent, Group int
	Name               string // the program's short name, which the process may have chosen itself
}

// Table returns every process that there is now. A process that ends meanwhile may be missing.
func Table() ([]Process, error) { return table() }

// Tree returns the descendants of root among table, parents first, without root itself.
func Tree(table []Process, root int) []Process {
	children := map[int][]Process{}
	for _, p := range table {
		children[p.Parent] = append(children[p.Parent], p)
	}
	var tree []Process
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for _, p := range children[queue[0]] {
			if p.PID != p.Parent {
				tree = append(tree, p)
				queue = append(queue, p.PID)
			}
		}
	}
	return tree
}
