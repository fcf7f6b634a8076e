// Four processes join the default group, introduce themselves to each other and sum their ranks.
#include <set>

#include "notes.h"

namespace {

constexpr std::int64_t text_bytes = 100;  // long enough for every rank's line

dist::Tensor to_tensor(const std::string& text) {
  auto t = dist::zeros({text_bytes}, dist::DType::u8);
  std::ranges::copy(text, t.data<std::uint8_t>().begin());
  return t;
}

std::string to_text(const dist::Tensor& t) {
  const auto bytes = t.data<std::uint8_t>();
  return {bytes.begin(), std::ranges::find(bytes, 0)};
}

void program(int rank, int world_size) {
  notes::say("rank {} of {} has joined", rank, world_size);

  const auto mine = to_tensor(
      fmt::format("rank {}, local rank {}, on the {}", rank, dist::get_local_rank(), dist::cpu.str()));
  std::vector<dist::Tensor> all;
  for (int i = 0; i < world_size; ++i) all.push_back(dist::zeros_like(mine));
  dist::all_gather(all, mine);

  auto pids = dist::zeros({world_size}, dist::DType::i64);
  dist::all_gather_into_tensor(pids, dist::full({1}, ::getpid(), dist::DType::i64));

  if (rank == 0) {
    for (const auto& text : all) notes::say("rank 0 read: {}", to_text(text));
    const auto numbers = pids.to_vector<std::int64_t>();
    notes::say("rank 0 counted {} different processes", std::set(numbers.begin(), numbers.end()).size());
  }

  auto sum = dist::full({1}, rank);
  dist::all_reduce(sum);
  notes::say("rank {} put in {} and got the sum {}", rank, rank, notes::show(sum));
}

}  // namespace

int main() { return notes::run(4, program); }
