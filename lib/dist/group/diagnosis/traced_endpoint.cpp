// TracedTransport wraps a transport and reports each message, wait and reduction of its operation to the
// rank's tracer; TracedEndpoint opens such transports for everything that is opened on the endpoint. Nothing
// that moves is changed.
#include "dist/group/diagnosis/traced_endpoint.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "dist/core/fail.h"
#include "dist/core/reduction_watch.h"

namespace dist {
namespace {

using trace::Event;
using trace::Kind;

class TracedTransport final : public Transport, private ReductionWatch {
 public:
  // Opens the transport itself.
  TracedTransport(Endpoint& endpoint, std::shared_ptr<trace::RankTracer> tracer, TransportOptions options)
      : tracer_(std::move(tracer)), members_(options.members), channel_(channel_of(options)) {
    const bool message = channel_.point_to_point;
    call_ = tracer_->find_call(channel_.context, message, message ? options.label.sequence : channel_.tag);
    like_ = call_ ? call_->event : event_of(options);
    like_.rank = tracer_->rank();
    waits_ = !(message && call_ && call_->async);  // Work::wait() reports those waits
    numbers_ =
        message ? tracer_->message_numbers() : std::make_shared<trace::MessageNumbers>(tracer_->rank());
    inner_ = endpoint.open(std::move(options));
    // A collective runs on the thread that opens its transport, and closes it before that thread opens
    // another.
    watches_ = call_ && call_->may_reduce;
    if (watches_) watch_before_ = ReductionWatch::exchange_current(this);
  }
  ~TracedTransport() override {
    if (watches_) ReductionWatch::exchange_current(watch_before_);
  }
  TracedTransport(const TracedTransport&) = delete;
  TracedTransport& operator=(const TracedTransport&) = delete;

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int node_of(int rank) const override { return inner_->node_of(rank); }

  Request isend(TensorView data, int dst) override {
    const std::int64_t begin = tracer_->now();
    const std::lock_guard lock(numbers_->order());
    Request request = inner_->isend(data, dst);
    Event event = event_of(Kind::send, data, begin);
    event.peer = members_[dst];
    event.message = numbers_->send(channel_, event.peer);
    return keep({std::move(request), std::move(event)});
  }

  Request irecv(TensorView data, int src) override {
    const std::int64_t begin = tracer_->now();
    const std::lock_guard lock(numbers_->order());
    Request request = inner_->irecv(data, src);
    const std::uint64_t receive =
        numbers_->post_receive(channel_, src == any_rank ? any_rank : members_[src]);
    return keep({std::move(request), event_of(Kind::receive, data, begin), receive});
  }

  using Transport::scratch;
  Scratch scratch(const TensorView& like, std::int64_t count) override {
    return inner_->scratch(like, count);
  }

 private:
  struct Transfer {
    Request request;
    Event event;
    std::uint64_t receive = 0;  // its number in numbers_
    bool is_complete = false;   // it was seen complete, at event.end
  };

  static trace::MessageChannel channel_of(const TransportOptions& options) {
    return {options.channel.context, options.channel.tag, options.channel.point_to_point};
  }

  // Where no call is open, the message is the library's own.
  static Event event_of(const TransportOptions& options) {
    Event event;
    event.group = options.channel.context;
    event.sequence = options.label.sequence;
    event.name = options.label.name;
    event.where = options.label.where;
    return event;
  }

  Event event_of(Kind kind, const TensorView& data, std::int64_t begin) const {
    Event event = like_;
    event.kind = kind;
    event.begin = begin;
    event.bytes = data.bytes();
    if (call_) event.offset = call_->offsets.of(data.data);
    return event;
  }

  Request keep(Transfer transfer) {
    const std::uint64_t id = next_++;
    transfers_.emplace(id, std::move(transfer));
    return {this, id};
  }

  int wait(std::uint64_t id) override {
    Transfer transfer = std::move(transfers_.extract(id).mapped());
    const std::int64_t begin = tracer_->now();
    try {
      const int peer = transfer.request.wait();
      if (!transfer.is_complete) transfer.event.end = tracer_->now();
      note_wait(begin);
      note_end(std::move(transfer), peer);
      return peer;
    } catch (...) {
      note_wait(begin);
      note_failure(transfer);
      throw;
    }
  }

  bool test(std::uint64_t id) override {
    Transfer& transfer = transfers_.at(id);
    if (!transfer.is_complete && transfer.request.is_completed()) {
      transfer.is_complete = true;
      transfer.event.end = tracer_->now();
    }
    return transfer.is_complete;
  }

  void cancel(std::uint64_t id) noexcept override {
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) return;
    const Transfer cancelled = std::move(found->second);
    transfers_.erase(found);
    note_failure(cancelled);
  }

  void free_scratch(TensorView) noexcept override {}  // scratch memory belongs to the inner transport

  void note_wait(std::int64_t begin) {
    if (waits_) tracer_->waited(like_, begin);
  }

  void note_end(Transfer transfer, int peer) {
    if (transfer.event.kind == Kind::send) return tracer_->add(std::move(transfer.event));
    transfer.event.peer = members_[peer];
    const std::lock_guard lock(numbers_->order());
    add_all(numbers_->received(transfer.receive, std::move(transfer.event)));
  }

  void note_failure(const Transfer& transfer) {
    const std::lock_guard lock(numbers_->order());
    if (transfer.event.kind == Kind::send)
      numbers_->send_failed(channel_, transfer.event.peer, transfer.event.message);
    else
      add_all(numbers_->receive_failed(transfer.receive));
  }

  void add_all(std::vector<Event> events) {
    for (Event& event : events) tracer_->add(std::move(event));
  }

  void reduced(const TensorView& acc, Clock::time_point begin) override {
    Event event = event_of(Kind::reduce, acc, tracer_->at(begin));
    event.end = tracer_->now();
    tracer_->add(std::move(event));
  }

  const std::shared_ptr<trace::RankTracer> tracer_;
  const Members members_;
  const trace::MessageChannel channel_;
  std::shared_ptr<const trace::CallNow> call_;  // null: no call is open
  Event like_;                                  // the template of this transport's events
  bool waits_, watches_;
  std::shared_ptr<trace::MessageNumbers> numbers_;
  std::unique_ptr<Transport> inner_;
  ReductionWatch* watch_before_ = nullptr;
  std::uint64_t next_ = 0;
  std::unordered_map<std::uint64_t, Transfer> transfers_;  // after inner_, so destroyed before it
};

class TracedEndpoint final : public Endpoint {
 public:
  TracedEndpoint(std::shared_ptr<Endpoint> inner, std::shared_ptr<trace::RankTracer> tracer)
      : inner_(std::move(inner)), tracer_(std::move(tracer)) {}

  int rank() const override { return inner_->rank(); }
  int world_size() const override { return inner_->world_size(); }
  std::unique_ptr<Transport> open(TransportOptions options) override {
    if (!tracer_->is_running()) return inner_->open(std::move(options));
    return std::make_unique<TracedTransport>(*inner_, tracer_, std::move(options));
  }
  SharedPeers* shared_peers() override { return inner_->shared_peers(); }
  void progress(Timeout patience) override { inner_->progress(patience); }
  void interrupt() override { inner_->interrupt(); }
  void abort(const std::string& reason) override { inner_->abort(reason); }
  void close(const std::string& reason) noexcept override { inner_->close(reason); }
  bool moves_alone() const override { return inner_->moves_alone(); }
  std::string link_kind(int peer) const override { return inner_->link_kind(peer); }
  bool has_cores() const override { return inner_->has_cores(); }

 private:
  const std::shared_ptr<Endpoint> inner_;
  const std::shared_ptr<trace::RankTracer> tracer_;
};

}  // namespace

std::shared_ptr<Endpoint> traced(std::shared_ptr<Endpoint> endpoint,
                                 std::shared_ptr<trace::RankTracer> tracer) {
  return std::make_shared<TracedEndpoint>(std::move(endpoint), std::move(tracer));
}

}  // namespace dist
