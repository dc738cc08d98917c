package pld

import "math"

// sampled is the pair ((1−q)Q + qP, Q) of a mechanism that runs on a Poisson sample, where (P, Q) dominates the
// mechanism itself. It dominates the sampled mechanism if a record is removed, and its reverse does if one is added
// [Zhu, Dong & Wang 2022, Theorem 11]. The loss is ln(1 − q + q·e^l), which rises with l.
type sampled struct {
	of   family
	rate bound // 0 < q < 1
	rest bound // 1 − q, computed from the exact rate
}

func (f sampled) describe(s sink) { f.of.describe(&sampling{s, f.rate, f.rest}) }

func (f sampled) edges(n int) []float64 {
	e := f.of.edges(n)
	for i := range e {
		e[i] = sampledLoss(point(e[i]), f.rate, f.rest).mid()
	}
	low, high := math.Log(f.rest.mid()), e[len(e)-1]
	if math.IsInf(low, 0) {
		low = e[0]
	}
	return increasing(append(e, low-1e-9*math.Abs(low), high))
}

func (sampled) spacing() (distance, one float64, ok bool) { return 0, 0, false }

// sampledLoss returns ln(1 − q + q·e^l), with q = rate and 1 − q = rest. For large l, where e^l would overflow, it
// computes l + ln(q + (1−q)e^(−l)). Otherwise it computes ln(1 + q(e^l − 1)). For small l it intersects this with
// bounds on ln((1−q) + q·e^l).
func sampledLoss(l, rate, rest bound) bound {
	if l.lo > 1 {
		return l.add(rate.add(rest.mul(l.neg().exp())).log())
	}
	loss := l.expm1().mul(rate).log1p()
	if l.hi < -0.5 {
		loss = loss.meet(rest.add(rate.mul(l.exp())).log())
	}
	return loss
}

// sampling is a sink that turns the description of (P, Q) into that of ((1−q)Q + qP, Q), and passes it on.
type sampling struct {
	sink
	rate, rest bound
}

// edge returns the loss l of (P, Q) for which ln(1 − q + q·e^l) is edge j of the sink, y. It is ln(1 + (e^y −
// 1)/q), or −Inf if y is below ln(1 − q).
func (s *sampling) edge(j int) bound {
	y := s.sink.edge(j)
	if y.lo > 1 {
		// this is y + ln(1 − (1−q)e^(−y)) − ln q
		return y.add(s.rest.mul(y.neg().exp()).neg().log1p()).sub(s.rate.log())
	}
	loss := y.expm1().over(s.rate).log1p()
	if y.hi < -0.5 { // a second formula: ln((e^y − (1−q))/q)
		loss = loss.meet(y.exp().sub(s.rest).positive().over(s.rate).log())
	}
	return loss
}

func (s *sampling) mix(m mass) bound {
	return s.rest.mul(m.q).add(s.rate.mul(m.p))
}

// cell passes on the mass of a cell. Let l be the cell's upper edge in (P, Q), and y its upper edge in the sampled
// pair. As e^y = (1−q) + q·e^l, the new scaled is (1−q)·(mass under Q) + q·(old scaled).
func (s *sampling) cell(j int, m mass) {
	scaled := s.rest.mul(m.q).add(s.rate.mul(m.scaled))
	s.sink.cell(j, mass{s.mix(m), m.q, scaled})
}

func (s *sampling) atom(loss, p, q bound) {
	if math.IsInf(loss.lo, 1) {
		s.sink.atom(loss, s.mix(mass{p: p, q: q}), q)
		return
	}
	s.sink.atom(sampledLoss(loss, s.rate, s.rest), s.mix(mass{p: p, q: q}), q)
}

func (s *sampling) outside(below, above mass) {
	s.sink.outside(mass{p: s.mix(below), q: below.q}, mass{p: s.mix(above), q: above.q})
}
