#include "dist/simulate/remote/caller.h"

#include <atomic>
#include <cstdint>

#include "dist/core/fail.h"

namespace dist::sim {
namespace {

thread_local Channel* task_channel = nullptr;

// Tasks take turns through another process, which the memory model does not know about. This is an acquire
// and release across the socket: a task that asks releases what it has written, and a task that is answered
// acquires it.
std::atomic<std::uint64_t> turns{0};

}  // namespace

TaskChannel::TaskChannel(UniqueFd socket) : channel_(std::move(socket), "the simulation") {
  task_channel = &channel_;
}
TaskChannel::~TaskChannel() { task_channel = nullptr; }

Channel& TaskChannel::current() {
  if (!task_channel)
    fail(Errc::unsupported,
         "this thread is not part of the virtual rank; call dist:: functions from the thread that the rank "
         "began on");
  return *task_channel;
}

Reply Question::ask(ConstBytes bytes, int passed) {
  Channel& channel = TaskChannel::current();
  turns.fetch_add(1, std::memory_order_release);
  channel.send(message_, bytes, passed);
  Reply reply(channel.receive());
  turns.load(std::memory_order_acquire);
  if (get_enum(reply.reader, Answer::error) == Answer::ok) return reply;
  const Errc code = get_enum(reply.reader, Errc::internal);
  throw Error(code, std::string(reply.reader.text()));
}

}  // namespace dist::sim
