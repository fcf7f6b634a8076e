#include "dist/backend/composed.h"

#include <cstdlib>

#include "dist/backend/entries.h"
#include "dist/backend/run_collective.h"
#include "dist/backend/run_direct.h"
#include "dist/core/fail.h"

namespace dist {
namespace {

std::string_view dist_algo() {
  const char* value = std::getenv("DIST_ALGO");
  return value ? value : "";
}

// Of the channels of a group: no collective has so high a number.
constexpr std::uint64_t map_peers_tag = std::uint64_t{1} << 61;

template <class Make>
class OperationLabel final : public RoundLabel {
 public:
  explicit OperationLabel(const Make& make) : make_(make) {}
  TransportOptions options() const override { return make_(); }

 private:
  const Make& make_;
};

}  // namespace

ComposedBackend::ComposedBackend(std::string_view of, const BackendContext& context)
    : OrderedBackend(of, context, context.endpoint),
      chooser_({.ranks = context.members.size(), .nodes = context.nodes}, context.costs, dist_algo()) {}

ComposedBackend::~ComposedBackend() { stop(); }

std::string ComposedBackend::algorithm_for(const Operation& operation) const {
  return is_collective(operation.kind) ? std::string(chooser_.pick(operation, peers_ != nullptr).name)
                                       : std::string();
}

std::unique_ptr<Transport> ComposedBackend::open_message(const Operation& operation) {
  return context_.endpoint->open(options_of(operation, std::string(dist::name(operation.kind))));
}

int ComposedBackend::carry(const Operation& operation) {
  return context_.endpoint->carry(without_deadline(operation, std::string(dist::name(operation.kind))),
                                  message_of(operation));
}

// Every rank comes here with the group's first collective, and all get the same answer.
void ComposedBackend::prepare(const Operation& operation) {
  TransportOptions options = options_of(operation, std::string(dist::name(operation.kind)));
  options.channel.tag = map_peers_tag;
  options.channel.opcode = 0;  // ranks that call different collectives learn it from the collectives
  peers_ = context_.endpoint->map_peers(std::move(options));
}

Way ComposedBackend::choose(const Operation& operation) {
  // Contributions to premul_sum are multiplied first, in memory of their own.
  const bool mapped = peers_ && operation.op.kind() != ReduceOp::Kind::premul_sum;
  running_ = &chooser_.pick(operation, mapped);
  is_direct_ = mapped && running_->direct;
  return {running_->name, is_direct_};
}

void ComposedBackend::execute(const Operation& operation) {
  const auto options = [&] {
    return options_of(operation, fmt::format("{}_{}", running_->name, dist::name(operation.kind)));
  };
  if (is_direct_) return run_direct(*peers_, operation, running_->direct, OperationLabel(options));
  const auto net = context_.endpoint->open(options());
  run_collective(*net, operation, [&](const CollectiveArgs& args) { running_->run(*net, args); });
}

namespace sim {

namespace {
constexpr const char* not_here = "this rank is not simulated; use sim::run() or ./distlab sim";
}

bool available(std::string* why) {
  const bool is_simulated = Tasking::current() != nullptr;
  if (why) *why = is_simulated ? "" : not_here;
  return is_simulated;
}

std::unique_ptr<Backend> make(const BackendContext& context) {
  if (!available(nullptr)) fail(Errc::unsupported, "{}", not_here);
  return std::make_unique<ComposedBackend>("sim", context);
}

}  // namespace sim

namespace host {

bool available(std::string* why) {
  if (why) why->clear();
  return true;
}

std::unique_ptr<Backend> make(const BackendContext& context) {
  return std::make_unique<ComposedBackend>("host", context);
}

}  // namespace host
}  // namespace dist
