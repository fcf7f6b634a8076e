// One step of four stages with 1F1B, by lab 20's solution. A forward takes 200 us, a backward 400 us, and an
// activation is 64 KiB, so that its messages can be seen. The computations change nothing.
#include <dist/dist.h>

#include "pipeline_parallel.h"

int main() {
  dist::spawn(4, [](int rank) {
    dist::init_process_group();
    constexpr int micro_batches = 6;
    constexpr std::int64_t width = 8 * 1024;
    lab::Batch batch{std::vector<std::int64_t>(micro_batches, 1), {}};
    if (rank == 0) batch.inputs.assign(micro_batches, dist::zeros({1, width}, dist::DType::f64));
    lab::Stage stage{width, width, {}, {}, {}};
    stage.forward = [](int, const dist::Tensor& input) {
      dist::sim::compute(200e-6);
      return input.clone();
    };
    stage.backward = [](int, const dist::Tensor& gradient) {
      dist::sim::compute(400e-6);
      return gradient.clone();
    };
    stage.loss = [](int, const dist::Tensor& output) { return lab::Loss{1, output.clone()}; };
    lab::step(lab::one_f_one_b(rank, 4, micro_batches), batch, stage);
  });
}
