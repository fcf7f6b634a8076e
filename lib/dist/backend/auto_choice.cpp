#include "dist/backend/auto_choice.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "dist/backend/entries.h"
#include "dist/core/device.h"
#include "dist/core/error.h"

namespace dist {

Device default_device(int local_rank, std::string* why) {
  try {
    const int gpus = device_api(DeviceType::cuda).count();
    if (gpus > 0) return cuda(std::max(local_rank, 0) % gpus);
    if (why) *why = "there is no GPU";
  } catch (const Error& error) {
    if (why) *why = error.what();
  }
  return cpu;
}

std::string RankDevice::str() const { return fmt::format("{}\t{}\t{}", gpu, nccl ? 1 : 0, reason); }

RankDevice RankDevice::from(std::string_view line) {
  std::array<std::string_view, 3> fields;
  for (auto& field : fields) {
    const auto end = std::min(line.find('\t'), line.size());
    field = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return {std::string(fields[0]), fields[1] == "1", std::string(fields[2])};
}

RankDevice local_device(int host, int local_rank) {
  RankDevice found;
  const Device device = default_device(local_rank, &found.reason);
  if (device.type == DeviceType::cpu) return found;
  found.gpu = fmt::format("{} of host {}", device_api(device.type).bus_id(device), host);
  found.nccl = nccl::available(&found.reason);
  return found;
}

BackendChoice choose_backend(std::span<const RankDevice> by_rank) {
  std::map<std::string_view, std::size_t> owners;
  for (std::size_t r = 0; r < by_rank.size(); ++r) {
    if (by_rank[r].gpu.empty()) return {"host", fmt::format("rank {} has no GPU: {}", r, by_rank[r].reason)};
    const auto [owner, is_first] = owners.emplace(by_rank[r].gpu, r);
    if (!is_first)
      return {"cuda", fmt::format("ranks {} and {} share a GPU ({})", owner->second, r, by_rank[r].gpu)};
  }
  const auto without = std::ranges::find(by_rank, false, &RankDevice::nccl);
  if (without == by_rank.end()) return {"nccl", "every rank has a GPU of its own"};
  return {"cuda", fmt::format("every rank has a GPU of its own, but rank {} has no NCCL: {}",
                              without - by_rank.begin(), without->reason)};
}

}  // namespace dist
