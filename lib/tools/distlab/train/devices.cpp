#include "distlab/train/devices.h"

#include "dist/core/fail.h"

#include "distlab/train/scheme.h"

namespace distlab {

std::vector<dist::Device> devices_of(const TrainOptions& options) {
  const auto& scheme = scheme_named(options.scheme);
  if (scheme.workers != Workers::ranks && dist::get_world_size() > 1)
    dist::fail(dist::Errc::invalid_argument,
               "--scheme {} is for one rank, but this job has {}; for several ranks choose --scheme ddp",
               scheme.name, dist::get_world_size());
  const int copies = scheme.workers == Workers::threads ? options.ranks : 1;
  std::vector<dist::Device> devices(static_cast<std::size_t>(copies), dist::cpu);
  if (options.device == "cpu") return devices;
  const int gpus =
      dist::device_api(dist::DeviceType::cuda).count();  // throws an error that says what is missing
  for (int i = 0; i < copies; ++i)
    devices[static_cast<std::size_t>(i)] = dist::cuda((dist::get_local_rank() + i) % gpus);
  return devices;
}

}  // namespace distlab
