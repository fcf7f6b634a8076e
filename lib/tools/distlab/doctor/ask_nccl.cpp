// Asks NCCL by one all_reduce of `distlab bench`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/backend/backend.h"
#include "dist/core/counted.h"

#include "distlab/doctor/nccl_choices.h"
#include "distlab/process.h"
#include "distlab/workspace.h"

namespace distlab {

NcclAnswer ask_nccl(std::size_t gpus) {
  constexpr auto topic = "NCCL's paths";
  std::string why;
  if (!dist::backend_named("nccl").available(&why))
    return {{topic, Health::absent, "NCCL cannot be asked", why}, ""};
  if (gpus < 2) return {{topic, Health::good, "one GPU: NCCL has no other rank to choose a path to", ""}, ""};
  const auto said =
      run_captured({"env", "NCCL_DEBUG=INFO", "NCCL_DEBUG_SUBSYS=INIT,P2P,SHM,NET,TUNING", this_program(),
                    "bench", "all_reduce", "--backend", "nccl", "-n", std::to_string(gpus), "--min", "1MiB",
                    "--max", "1MiB", "--iters", "1", "--repeat", "1"});
  if (said.exit_code != 0)
    return {{topic, Health::bad, fmt::format("an all_reduce of {} failed", dist::counted(gpus, "rank")),
             "see NCCL_DEBUG=WARN ./distlab bench all_reduce --backend nccl"},
            ""};
  const NcclChoices choices = nccl_choices(said.output);
  std::string table;
  if (!choices.table.empty())
    table = fmt::format("  NCCL's estimates, latency (us) / bandwidth (GB/s):\n  {}\n",
                        fmt::join(choices.table, "\n  "));
  return {explain(choices), table};
}

}  // namespace distlab
