// Misconception: tokens that several ranks have may be summed over all of them, and the sum divided by
// the number of copies.
//
// Killed by: Part4Loss.one_all_reduce
// Diagnosis: another_group
#include "mutant.h"
#define mean_loss right_mean_loss
#include DIST_SOLUTION
#undef mean_loss

namespace lab {

MeanLoss mean_loss(const Mesh& mesh, const std::string& data, double sum, std::int64_t tokens) {
  const auto all = summed({sum, static_cast<double>(tokens)}, {});
  const int copies = dist::get_world_size() / mesh.groups.at(data).size();
  return {all[0] / all[1], static_cast<std::int64_t>(all[1]) / copies};
}

}  // namespace lab
