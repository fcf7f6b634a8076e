// main() of every grading program.
#include "judge/exam.h"

int main(int argc, char** argv) { return judge::run_exam(argc, argv); }
