module example.com/embed

go 1.26

require dither v0.0.0

replace dither => ../..
