// Cheat: asks the assembler for the solution's bytes: object files of the build tree.
// Told: does not compile
#include "all_gather_all_reduce.h"

asm(".incbin \"labs/CMakeFiles/lab_07_solution_code.dir/__/solutions/07_all_gather_all_reduce/"
    "all_gather_all_reduce.cpp.o\"");

static void cheat(dist::Tensor&, const dist::Tensor&) {}
