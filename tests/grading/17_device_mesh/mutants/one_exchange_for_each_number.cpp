// Misconception: two numbers are two all_reduces.
//
// Killed by: Part4Loss.one_all_reduce
// Diagnosis: an_exchange_for_each_number
#include "mutant.h"
#define mean_loss right_mean_loss
#include DIST_SOLUTION
#undef mean_loss

namespace lab {

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  const double all = summed({sum}, mesh.groups.at(data))[0];
  const double count = summed({static_cast<double>(tokens)}, mesh.groups.at(data))[0];
  return {all / count, static_cast<std::int64_t>(count)};
}

}  // namespace lab
