library(testthat)
library(partita)
test_check("partita")
