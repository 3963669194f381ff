package value

import (
	"errors"
	"math"
	"math/big"
)

// ErrDivide is what a division by zero comes to.
var ErrDivide = errors.New("division by zero")

// Arith computes a op b for numbers behind the border; op is one of + - * / % **. Whole numbers stay exact: a
// result beyond 64 bits becomes a float64, it never wraps. ok is false where a or b is not a number or op is none of
// these.
func Arith(op string, a, b any) (v any, ok bool, err error) {
	a, b = Normalise(a), Normalise(b)
	if !IsNumber(a) || !IsNumber(b) {
		return nil, false, nil
	}
	x, y := whole(a), whole(b)
	if x != nil && y != nil {
		if v, done, err := wholes(op, x, y); done {
			return v, true, err
		}
	}
	f, g := asFloat(a), asFloat(b)
	switch op {
	case "+":
		f += g
	case "-":
		f -= g
	case "*":
		f *= g
	case "/":
		if g == 0 {
			return nil, true, ErrDivide
		}
		f /= g
	case "%":
		if g == 0 {
			return nil, true, ErrDivide
		}
		f = math.Mod(f, g)
	case "**":
		f = math.Pow(f, g)
	default:
		return nil, false, nil
	}
	return float(f), true, nil
}

// wholes computes on whole numbers; done is false where the result is a fraction and is left to floats.
func wholes(op string, x, y *big.Int) (v any, done bool, err error) {
	z := new(big.Int)
	switch op {
	case "+":
		z.Add(x, y)
	case "-":
		z.Sub(x, y)
	case "*":
		z.Mul(x, y)
	case "/":
		if y.Sign() == 0 {
			return nil, true, ErrDivide
		}
		if _, rest := z.QuoRem(x, y, new(big.Int)); rest.Sign() != 0 {
			return nil, false, nil
		}
	case "%":
		if y.Sign() == 0 {
			return nil, true, ErrDivide
		}
		z.Rem(x, y)
	case "**":
		if y.Sign() < 0 || !y.IsInt64() || y.Int64() > 64 {
			return nil, false, nil
		}
		z.Exp(x, y, nil)
	default:
		return nil, false, nil
	}
	return bigInt(z), true, nil
}

func whole(v any) *big.Int {
	switch v := v.(type) {
	case int:
		return big.NewInt(int64(v))
	case uint64:
		return new(big.Int).SetUint64(v)
	}
	return nil
}

func asFloat(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}
