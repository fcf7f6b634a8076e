// The handbook's example of a backend of one's own, in a program that builds distlab with it.
#include <dist/dist.h>
#include <fmt/format.h>

#include "../../../unit/backend/counting_backend.h"

int main() {
  dist::register_backend(counting);
  dist::init_process_group({.backend = "counting"});
  auto t = dist::full({4}, dist::get_rank() + 1);
  dist::all_reduce(t);
  fmt::print("{}: sum {} after {} call\n", dist::get_backend(), t[0].item<int>(), counted_calls.load());
  dist::destroy_process_group();
}
