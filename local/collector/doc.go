// Package collector collects the reports of a survey (package survey), and estimates from them. A Store keeps them in a
// SQLite file. A Server receives them over HTTP.
//
// The collector is not trusted: each report is private by itself. It keeps as little as it can. A store has the
// randomized answers, the hour in which they arrived, and the hashed ids of reports. It has no addresses, and no link
// from an id to its answers. The reports of one commit are in the order of their random ids, not of their arrival.
package collector

import "errors"

var (
	// ErrStore reports a store that cannot be opened, read or written.
	ErrStore = errors.New("store of reports")
	// ErrFull reports a store that cannot grow, such as on a full disk. It is an ErrStore. Nothing of the call was
	// stored.
	ErrFull = errors.New("the disk is full")
	// ErrChanged reports a survey that is not the one of the store.
	ErrChanged = errors.New("the survey has changed")
	// ErrOver reports that the store accepts no more reports of the survey's version: its window closed earlier, or a later
	// version began. Nothing of the call was stored.
	ErrOver = errors.New("the collection of this version of the survey has ended")
	// ErrBusy reports that too many reports wait for the disk. Nothing of the call was stored.
	ErrBusy = errors.New("too many reports wait for the disk")
	// ErrClosed reports a store that is closing. Nothing of the call was stored.
	ErrClosed = errors.New("the store is closed")
)
