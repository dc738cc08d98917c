package sample

// Path names the arithmetic that the parameters chose.
func (l *Laplace) Path() string { return l.path.name() }

// Path names the arithmetic that the parameters chose.
func (g *Gaussian) Path() string { return g.path.name() }

func (p path) name() string { return [...]string{"64", "128", "big"}[p] }
