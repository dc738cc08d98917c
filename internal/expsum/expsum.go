// Package expsum holds exact numbers that are made of rationals and of e to rational powers.
package expsum
