// Backward of four layers twice: waiting for each average, and with the buckets of lab 15's solution.
#include <dist/dist.h>

#include "ddp_buckets.h"

namespace {

constexpr double layer_s = 150e-6;

// [waits]
void waits_for_each(std::vector<dist::Tensor>& gradients) {
  for (std::size_t i = gradients.size(); i-- > 0;) {
    dist::sim::compute(layer_s);
    dist::all_reduce(gradients[i], dist::ReduceOp::avg);
  }
}
// [/waits]

// [hooks]
void goes_on(lab::Reducer& reducer, std::size_t gradients) {
  lab::start(reducer);
  for (std::size_t i = gradients; i-- > 0;) {
    dist::sim::compute(layer_s);
    lab::ready(reducer, i);
  }
  lab::finish(reducer);
}
// [/hooks]

}  // namespace

int main() {
  dist::spawn(2, [](int) {
    dist::init_process_group();
    std::vector<dist::Tensor> gradients(4);
    for (dist::Tensor& gradient : gradients) gradient = dist::zeros({20'000});
    waits_for_each(gradients);
    dist::barrier();
    lab::Reducer reducer = lab::make_reducer(gradients, {1});  // every gradient is a bucket
    goes_on(reducer, gradients.size());
  });
}
