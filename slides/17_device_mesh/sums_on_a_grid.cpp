// A grid of 2 x 8: after each of two layers a sum along tp, which is inside a node, and at the end one along
// dp, from node to node. The tensors have no meaning.
#include <dist/dist.h>
#include <dist/mesh/device_mesh.h>

int main() {
  dist::spawn(16, [](int) {
    dist::init_process_group();
    const auto mesh = dist::init_device_mesh({2, 8}, {"dp", "tp"});
    dist::Tensor t = dist::zeros({16 * 1024});
    const auto sum_along = [&](const char* axis) {
      dist::all_reduce(t, {.group = mesh.get_group(axis), .algorithm = "recursive_doubling"});
    };
    for (int layer = 0; layer < 2; ++layer) {
      dist::sim::compute(5e-6);
      sum_along("tp");
    }
    sum_along("dp");
  });
}
