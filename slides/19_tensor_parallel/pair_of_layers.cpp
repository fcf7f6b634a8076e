// A pair of layers on four ranks: what the ranks compute, and when they send what. The tensors have no
// meaning.
#include <dist/dist.h>

namespace {

constexpr double product_s = 80e-6;

void forward(dist::Tensor& y) {
  dist::sim::compute(2 * product_s);
  dist::all_reduce(y, {.algorithm = "ring"});
}

void backward(dist::Tensor& of_x) {
  dist::sim::compute(3 * product_s);
  dist::Work sum = dist::all_reduce(of_x, {.async_op = true, .algorithm = "ring"});
  dist::sim::compute(product_s);
  sum.wait();
}

}  // namespace

int main() {
  dist::spawn(4, [](int) {
    dist::init_process_group();
    dist::Tensor activation = dist::zeros({64 * 1024});
    forward(activation);
    backward(activation);
  });
}
