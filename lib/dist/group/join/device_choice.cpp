#include "dist/group/join/device_choice.h"

#include "dist/collectives/cost/cost_model_file.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/group/job_state.h"

namespace dist {
namespace {

int host_of(const Job& job) {
  const auto rank = static_cast<std::size_t>(job.rank);
  return rank < job.hosts.size() ? job.hosts[rank] : 0;
}

RankDevice device_in(std::string_view said) {
  said.remove_prefix(said.find('\n') + 1);
  return RankDevice::from(said.substr(0, said.find('\n')));
}

}  // namespace

void require_gpu(CallSite where) {
  std::string why;
  if (default_device(0, &why) == cpu)
    fail(Errc::unsupported, "init_process_group at {}: DIST_DEVICE=cuda asks for a GPU: {}", where.str(),
         why);
}

RankDevice device_here(const Settings& settings, const Job& job) {
  if (settings.device == DeviceType::cpu) return {"", false, "DIST_DEVICE=cpu"};
  return local_device(host_of(job), job.local_rank);
}

std::string chosen_by_all(const Exchanged& exchanged) {
  std::vector<RankDevice> devices;
  for (const ControlMessage& message : exchanged.messages) devices.push_back(device_in(message.data));
  const BackendChoice choice = choose_backend(devices);
  log(LogLevel::info, "backend auto is {}: {}", choice.backend, choice.reason);
  return std::string(choice.backend);
}

CostModel JobState::costs_here() const {
  const bool has_sockets_alone = sends_by_sockets_alone(settings.transport);
  const bool sends_by_tcp = has_sockets_alone || nodes_of(Members::everybody(job.world_size)) > 1;
  CostModel model = known_costs(sends_by_tcp).model;
  if (!endpoint->has_cores()) model = on_shared_cores(model);
  return has_sockets_alone ? all_far(model) : model;
}

Device JobState::device() const {
  if (context.virtual_world || settings.device == DeviceType::cpu) return cpu;
  return default_device(job.local_rank);
}

}  // namespace dist
