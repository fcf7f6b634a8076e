// RemoteTransport and RemoteEndpoint: each call is a question to the simulation. The bytes of a send go with
// the question; those of a receive follow the answer to its wait.
#include "dist/simulate/remote/remote_transport.h"

#include <algorithm>

#include "dist/core/fail.h"
#include "dist/core/tasking.h"
#include "dist/simulate/remote/caller.h"

namespace dist::sim {

RemoteTransport::RemoteTransport(std::uint32_t endpoint, const TransportOptions& options, int global_rank,
                                 int gpus_per_node)
    : members_(options.members),
      rank_(members_.group_rank_of(global_rank)),
      gpus_per_node_(gpus_per_node),
      number_(Question(Verb::open).with(endpoint).with(options).ask().get<std::uint64_t>()) {}

RemoteTransport::~RemoteTransport() {
  try {
    Question(Verb::close_transport).with(number_).ask();
  } catch (const std::exception&) {  // the simulation has ended
  }
}

Request RemoteTransport::isend(TensorView data, int dst) {
  Question question(Verb::post_send);
  question.with(number_).with(dst).with(data.dtype).with(data.count);
  // Copied here and not by the system, which fails (EFAULT) if the page is closed because of another tensor
  // on it (access_guard.h).
  const Bytes copy(data.data, data.data + data.bytes());
  return {this, question.ask(copy).get<std::uint64_t>()};
}

Request RemoteTransport::irecv(TensorView data, int src) {
  Question question(Verb::post_receive);
  question.with(number_).with(src).with(data.dtype).with(data.count);
  const auto id = question.ask().get<std::uint64_t>();
  receiving_.emplace(id, data);
  return {this, id};
}

int RemoteTransport::wait(std::uint64_t id) {
  const auto receiving = receiving_.extract(id);
  const int peer = Question(Verb::wait_for).with(number_).with(id).ask().get<int>();
  if (receiving.empty()) return peer;
  Bytes arrived(receiving.mapped().bytes());
  TaskChannel::current().receive(arrived);
  std::ranges::copy(arrived, receiving.mapped().data);  // not by the system, see isend()
  return peer;
}

bool RemoteTransport::test(std::uint64_t id) {
  return Question(Verb::test).with(number_).with(id).ask().get<std::uint8_t>() != 0;
}

void RemoteTransport::cancel(std::uint64_t id) noexcept {
  receiving_.erase(id);
  try {
    Question(Verb::cancel).with(number_).with(id).ask();
  } catch (const std::exception&) {  // the simulation has ended
  }
}

Scratch RemoteTransport::scratch(const TensorView& like, std::int64_t count) {
  TensorView view = like;
  view.count = count;
  view.data = static_cast<std::byte*>(Tasking::current()->allocate(std::max<std::size_t>(view.bytes(), 1)));
  if (view.data == nullptr)
    fail(Errc::resource, "scratch of {} bytes does not fit into memory", view.bytes());
  return {this, view};
}

void RemoteTransport::free_scratch(TensorView view) noexcept {
  Tasking::current()->deallocate(view.data, std::max<std::size_t>(view.bytes(), 1));
}

RemoteEndpoint::RemoteEndpoint(int rank, int world_size, int gpus_per_node)
    : rank_(rank),
      world_size_(world_size),
      gpus_per_node_(gpus_per_node),
      number_(Question(Verb::make_endpoint).ask().get<std::uint32_t>()) {}

std::unique_ptr<Transport> RemoteEndpoint::open(TransportOptions options) {
  return std::make_unique<RemoteTransport>(number_, options, rank_, gpus_per_node_);
}

void RemoteEndpoint::progress(Timeout patience) {
  Question(Verb::progress).with(number_).with(patience.count()).ask();
}

void RemoteEndpoint::interrupt() { Question(Verb::interrupt).with(number_).ask(); }

void RemoteEndpoint::abort(const std::string& reason) {
  Question(Verb::abort).with(number_).with(reason).ask();
}

void RemoteEndpoint::close(const std::string& reason) noexcept {
  try {
    Question(Verb::close).with(number_).with(reason).ask();
  } catch (const std::exception&) {  // the simulation has ended
  }
}

}  // namespace dist::sim
