// Placements change on devices as on the CPU.
#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/mesh/dtensor.h"

#include "support/fake_device.h"
#include "support/ranks.h"

namespace dist::test {
namespace {

TEST(DTensorOnDevices, HasTheValuesOfTheCpu) {
  const FakeDeviceGuard fake({.longest_rest = std::chrono::microseconds(300)});
  const Tensor whole = arange(35).view({5, 7});
  RankOptions options;
  options.init.backend = "cuda";
  run_ranks(
      2,
      [&](int) {
        const DeviceMesh mesh = init_device_mesh({2}, {"tp"});
        for (const Placement& from : {Placement(Shard(0)), Placement(Shard(1)), Placement(Replicate())})
          for (const Placement& to :
               {Placement(Shard(0)), Placement(Shard(1)), Placement(Replicate()), Placement(Partial())}) {
            const DTensor there = distribute_tensor(whole.to(cuda(0)), mesh, {from}).redistribute({to});
            const DTensor here = distribute_tensor(whole, mesh, {from}, std::nullopt);
            EXPECT_EQ(there.device(), cuda(0));
            EXPECT_TRUE(equal(there.redistribute({from}).to_local().to(cpu), here.to_local())) << there.str();
            EXPECT_TRUE(equal(there.full_tensor().to(cpu), whole)) << there.str();
          }
      },
      options);
}

}  // namespace
}  // namespace dist::test
