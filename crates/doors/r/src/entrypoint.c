/* Without this the linker finds nothing that the static library is for. */
void R_init_partita_extendr(void *dll);

void R_init_partita(void *dll) {
    R_init_partita_extendr(dll);
}
