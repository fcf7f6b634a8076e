// The same exchange twice: waited for at once, and hidden behind a computation.
#include <dist/dist.h>

namespace {

constexpr double work_s = 60e-6;

// [waits]
void waits_at_once(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  auto coming = dist::irecv(theirs, partner);
  auto going = dist::isend(mine, partner);
  coming.wait();
  going.wait();
  dist::sim::compute(work_s);
}
// [/waits]

// [overlaps]
void overlaps(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  auto coming = dist::irecv(theirs, partner);
  auto going = dist::isend(mine, partner);
  dist::sim::compute(work_s);
  coming.wait();
  going.wait();
}
// [/overlaps]

}  // namespace

int main() {
  dist::spawn(4, [](int rank) {
    dist::init_process_group();
    const dist::Tensor mine = dist::full({128 * 1024}, rank);
    dist::Tensor theirs = dist::zeros({128 * 1024});
    waits_at_once(mine, theirs, rank ^ 1);
    dist::barrier();
    overlaps(mine, theirs, rank ^ 1);
  });
}
