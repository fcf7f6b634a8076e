// Ten samples for four ranks, without padding: two ranks have one more than the others.
#include <dist/dist.h>

namespace {

// [epoch]
void epoch(int rank, int ranks, int samples) {
  dist::Tensor gradient = dist::ones({1});
  for (int sample = rank; sample < samples; sample += ranks) {
    dist::all_reduce(gradient);
  }
}
// [/epoch]

}  // namespace

int main() {
  dist::spawn(4, [](int rank) {
    dist::init_process_group();
    epoch(rank, dist::get_world_size(), 10);
  });
}
