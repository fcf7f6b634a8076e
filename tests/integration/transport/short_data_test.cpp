// The size up to which ranks publish copies depends on the cores; ranks that see different cores agree on one
// size.
#include <cstdlib>

#include <gtest/gtest.h>

#include "dist/dist.h"

#include "support/process_ranks.h"

namespace dist::test {
namespace {

constexpr int root = 1;

// What went wrong with `count` elements; empty: nothing.
std::string try_collectives(int rank, std::int64_t count) {
  const auto mine = static_cast<float>(rank + 1);
  Tensor data = full({count}, mine);
  broadcast(data, root);
  if (data.to_vector<float>() != std::vector<float>(static_cast<std::size_t>(count), root + 1))
    return "broadcast";
  data.fill_(mine);
  reduce(data, root);
  if (data.to_vector<float>()[static_cast<std::size_t>(count - 1)] != (rank == root ? 3 : mine))
    return "reduce";
  const Tensor own = full({count}, mine);
  Tensor all = empty({2 * count});
  all_gather_into_tensor(all, own);
  const auto gathered = all.to_vector<float>();
  if (gathered.front() != 1 || gathered.back() != 2) return "all_gather";
  return "";
}

std::string try_all_sizes(int rank) {
  try {
    init_process_group({.timeout = std::chrono::seconds(20)});
    std::string problem;
    for (std::int64_t count = 1; count <= 4096 && problem.empty(); count *= 2) {
      problem = try_collectives(rank, count);
      if (!problem.empty()) problem += " of " + std::to_string(count);
    }
    destroy_process_group();
    return problem;
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ShortData, IsTheSameForRanksThatLookAndForOnesThatDoNot) {
  ProcessRanks ranks(2, [](int rank, const std::function<void()>& ready) {
    if (rank == 0) setenv("DIST_SPIN_US", "0", 1);
    ready();
    return try_all_sizes(rank);
  });
  for (const auto& report : ranks.join(std::chrono::milliseconds(60'000))) EXPECT_EQ(report.text, "");
}

}  // namespace
}  // namespace dist::test
