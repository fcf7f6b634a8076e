// More stacks than the system lets a process have mappings, of which each guard page needs one.
#include "dist/sim/stacks.h"

#include <fstream>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/sanitizer.h"

namespace dist::sim {
namespace {

TEST(Stacks, GuardsEndWhereTheSystemsMappingsWould) {
  if (built_with_tsan) GTEST_SKIP() << "ThreadSanitizer takes mappings of its own for each of them";
  constexpr std::size_t count = 40'000;
  std::size_t most = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  if (most > 2 * count) GTEST_SKIP() << "this system allows " << most << " mappings";
  std::vector<std::unique_ptr<Stacks>> stacks;  // one by one, as workers come
  for (std::size_t i = 0; i < count; ++i) stacks.push_back(std::make_unique<Stacks>(1, 16 << 10));
  EXPECT_TRUE(stacks.front()->guarded());
  EXPECT_FALSE(stacks.back()->guarded());
  EXPECT_TRUE(stacks.back()->intact(0));
  stacks.clear();
  EXPECT_TRUE(Stacks(1, 16 << 10).guarded()) << "what they took has been given back";
}

}  // namespace
}  // namespace dist::sim
