#include "dist/remote/caller.h"

#include "dist/core/fail.h"

namespace dist::sim {
namespace {

thread_local Channel* task_channel = nullptr;

}  // namespace

TaskChannel::TaskChannel(UniqueFd socket) : channel_(std::move(socket), "the simulation") {
  task_channel = &channel_;
}
TaskChannel::~TaskChannel() { task_channel = nullptr; }

Channel& TaskChannel::current() {
  if (!task_channel)
    fail(Errc::unsupported,
         "this thread is no part of the virtual rank; call dist:: functions from the thread that the rank "
         "began on");
  return *task_channel;
}

Reply Question::ask(ConstBytes bytes, int passed) {
  Channel& channel = TaskChannel::current();
  channel.send(message_, bytes, passed);
  Reply reply(channel.receive());
  if (get_enum(reply.reader, Answer::error) == Answer::ok) return reply;
  const Errc code = get_enum(reply.reader, Errc::internal);
  throw Error(code, std::string(reply.reader.text()));
}

}  // namespace dist::sim
