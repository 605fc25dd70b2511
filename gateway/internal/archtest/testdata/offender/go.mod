module offender

go 1.26.0
