package sample

// Path names the arithmetic that the parameters chose.
func (l *Laplace) Path() string { return l.path.name() }

// Path names the arithmetic that the parameters chose.
func (g *Gaussian) Path() string { return g.path.name() }

func (p path) name() string { return [...]string{"64", "128", "big", "fixed"}[p] }

// Exactly makes the race decide each comparison by digits and wide intervals, as if its floats had always left it open.
func (r *Race) Exactly() *Race { r.exactly = true; return r }
