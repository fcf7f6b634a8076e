// What a session does for a process's collectives: it runs them.
#include <utility>

#include "dist/backend/host_backend.h"
#include "dist/core/fail.h"
#include "dist/simulate/remote/collective_question.h"
#include "dist/simulate/remote/session.h"

namespace dist::sim {
namespace {

// The bytes of an operation, counted as call_of() counts them for a trace.
std::uint64_t bytes_of(const Operation& operation) {
  if (operation.kind == OpKind::barrier) return 0;
  return static_cast<std::uint64_t>(operation.count()) * size_of(operation.dtype());
}

// An operation on this side, its tensors in parcels.
class Collective {
 public:
  Collective(const Asked& asked, CollectiveQuestion question, std::shared_ptr<Endpoint> endpoint)
      : session_(asked.session), question_(std::move(question)) {
    context_.context = question_.context;
    context_.members = question_.members;
    context_.rank = question_.members.group_rank_of(session_.rank);
    context_.endpoint = std::move(endpoint);
    costs_ = session_.simulation.costs();
    context_.costs = &costs_;
  }

  std::string algorithm() {
    const Room inputs = room_for(question_.inputs), outputs = room_for(question_.outputs);
    return HostCollectives(context_).algorithm_for(operation(inputs, outputs));
  }
  // What the process contributes comes in, and what it gets stays in the parcel.
  std::unique_ptr<Parcel> run(Channel& channel) {
    const Room inputs = room_for(question_.inputs);
    Room outputs = room_for(question_.outputs);
    channel.receive(inputs.parcel->bytes());
    if (works_in_place(question_.kind)) channel.receive(outputs.parcel->bytes());
    const Operation asked_for = operation(inputs, outputs);
    if (session_.options.collective)
      session_.options.collective(session_.rank, question_.kind, question_.where, bytes_of(asked_for));
    HostCollectives collectives(context_);
    collectives.prepare(asked_for);
    collectives.choose(asked_for);
    collectives.execute(asked_for);
    return std::move(outputs.parcel);
  }

 private:
  struct Room {
    std::unique_ptr<Parcel> parcel;
    std::vector<Tensor> tensors;
  };
  Room room_for(const std::vector<std::int64_t>& counts) const {
    std::int64_t all = 0;
    for (const std::int64_t count : counts) all += count;
    const auto size = static_cast<std::int64_t>(size_of(question_.dtype));
    Room room{session_.parcel(static_cast<std::uint64_t>(all * size)), {}};
    static std::byte nothing;
    std::byte* at = all > 0 ? room.parcel->bytes().data() : &nothing;
    for (const std::int64_t count : counts) {
      room.tensors.push_back(Tensor::from_blob(at, {count}, question_.dtype));
      at += count * size;
    }
    return room;
  }
  Operation operation(const Room& inputs, const Room& outputs) const {
    Operation made;
    made.kind = question_.kind;
    made.sequence = question_.sequence;
    made.op = question_.op;
    made.root = question_.root;
    made.algorithm = question_.algorithm;
    made.timeout = question_.timeout;
    made.where = question_.where;
    made.inputs.borrow(inputs.tensors);
    made.outputs.borrow(outputs.tensors);
    return made;
  }

  Session& session_;
  const CollectiveQuestion question_;
  BackendContext context_;
  CostModel costs_;
};

// Reads the question.
Collective asked_for(const Asked& asked) {
  auto endpoint = endpoint_of(asked);
  return {asked, get_collective(asked.question, asked.session.rank, asked.session.ranks()),
          std::move(endpoint)};
}

}  // namespace

const Verbs& collective_verbs() {
  static const Verbs verbs{
      {Verb::collective,
       [](const Asked& asked, Response& response) { response.parcel = asked_for(asked).run(asked.channel); }},
      {Verb::algorithm,
       [](const Asked& asked, Response& response) {
         response.message.put(std::string_view(asked_for(asked).algorithm()));
       }},
  };
  return verbs;
}

}  // namespace dist::sim
