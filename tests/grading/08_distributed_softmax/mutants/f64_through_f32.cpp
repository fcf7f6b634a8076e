// Misconception: the model computes in f32, so every tensor may be read as f32.
//
// Killed by: Part3Row.uneven_shards
// Diagnosis: digits_lost
#include "mutant.h"
#define softmax_of_row right_softmax_of_row
#include DIST_SOLUTION
#undef softmax_of_row

namespace lab {

void softmax_of_row(Tensor& shard) {
  Tensor short_digits = shard.to(dist::DType::f32);
  right_softmax_of_row(short_digits);
  store(shard, short_digits.to_vector<double>());
}

}  // namespace lab
