// Cheat: includes the solution.
// Told: does not compile
// Whole: nothing is to follow.
#include "../../solutions/07_all_gather_all_reduce/all_gather_all_reduce.cpp"
