.onLoad <- function(libname, pkgname) .Call(wrap__loaded)
