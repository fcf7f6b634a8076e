// Misconception: 200 Gb/s means 200e9 bytes per second. (It means bits.)
//
// Killed by: Part2Predict.ring
// Diagnosis: bits_for_bytes
#include "mutant.h"
#define predict right_predict
#include DIST_SOLUTION
#undef predict

namespace lab {

double predict(Algorithm algorithm, const Machine& machine, double bytes) {
  return right_predict(algorithm, machine, bytes / 8);
}

}  // namespace lab
