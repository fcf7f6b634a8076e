// Cheat: asks the dynamic linker for what is inside of the library.
// Told: it uses dlsym, which looks up what is inside of the library
#include <vector>

#include <dlfcn.h>

#include "all_gather_all_reduce.h"

struct Node {
  int parent = -1, depth = 0;
  std::vector<int> children;
};

static void cheat(dist::Tensor& out, const dist::Tensor&) {
  const auto find = reinterpret_cast<Node (*)(int, int)>(dlsym(RTLD_DEFAULT, "_ZN4dist11binary_nodeEii"));
  out.fill_(find(dist::get_rank(), dist::get_world_size()).parent);
}
