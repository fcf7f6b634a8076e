#include "dist/simulate/remote/remote_world.h"

#include "dist/simulate/remote/caller.h"
#include "dist/simulate/remote/remote_backend.h"
#include "dist/simulate/remote/remote_transport.h"

namespace dist::sim {

Greeting greet() {
  Reply reply = Question(Verb::hello).ask();
  Greeting greeting;
  greeting.rank = reply.get<int>();
  greeting.ranks = reply.get<int>();
  greeting.gpus_per_node = reply.get<int>();
  greeting.checks = reply.get<std::uint8_t>() != 0;
  greeting.traces = reply.get<std::uint8_t>() != 0;
  greeting.recorder_size = reply.get<std::uint64_t>();
  greeting.costs = get_costs(reply.reader);
  return greeting;
}

RemoteWorld::RemoteWorld(const Greeting& greeting, RemoteTasking& tasking)
    : greeting_(greeting), tasking_(tasking) {
  if (greeting_.checks || greeting_.traces) observer_ = std::make_shared<SimObserver>(*this, greeting_.rank);
}

RemoteWorld::~RemoteWorld() {
  if (observer_) observer_->forget();  // a Work may outlive this
}

Job RemoteWorld::join(int) {
  Reply reply = Question(Verb::join).ask();
  Job job;
  job.rank = reply.get<int>();
  job.world_size = reply.get<int>();
  job.local_rank = reply.get<int>();
  job.local_world_size = reply.get<int>();
  job.launcher = reply.reader.text();
  return job;
}

std::shared_ptr<Endpoint> RemoteWorld::endpoint(int rank) {
  return std::make_shared<RemoteEndpoint>(rank, greeting_.ranks, greeting_.gpus_per_node);
}

std::unique_ptr<Backend> RemoteWorld::backend(const BackendContext& context) {
  const auto& endpoint = static_cast<const RemoteEndpoint&>(*context.endpoint);
  return std::make_unique<RemoteBackend>(context, endpoint.number());
}

std::shared_ptr<const Exchanged> RemoteWorld::exchange(const BoardCall& mine, std::vector<int>& missing) {
  Reply reply = Question(Verb::exchange).with(mine).ask();
  missing = get_numbers(reply.reader);
  if (!missing.empty()) return nullptr;
  auto exchanged = std::make_shared<Exchanged>();
  for (int i = 0; i < mine.members.size(); ++i)
    exchanged->messages.push_back(get_control_message(reply.reader));
  return exchanged;
}

std::shared_ptr<SimulationObserver> RemoteWorld::observer(int) { return observer_; }

void RemoteWorld::compare_collective(int, const Attendance& call) {
  Question(Verb::compare_collective).with(call).ask();
}

void RemoteWorld::compare_copies(int, GroupCopies mine) { Question(Verb::compare_copies).with(mine).ask(); }

void RemoteWorld::note(check::Finding finding, Telling telling) {
  Question(Verb::note).with(telling).with(finding).ask();
}

bool RemoteWorld::lends_tensors() { return Question(Verb::lends_tensors).ask().get<std::uint8_t>() != 0; }

void RemoteWorld::call_begins(int, const trace::Call& call) { Question(Verb::call_begins).with(call).ask(); }

void RemoteWorld::call_ends(int, std::uint64_t record, trace::Ending ending) {
  Question(Verb::call_ends).with(record).with(ending).ask();
}

}  // namespace dist::sim
