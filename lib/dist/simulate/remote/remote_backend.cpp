#include "dist/simulate/remote/remote_backend.h"

#include <algorithm>
#include <vector>

#include "dist/simulate/remote/caller.h"
#include "dist/simulate/remote/collective_question.h"

namespace dist::sim {
namespace {

// Copied here and not by the system, which fails (EFAULT) where a page is closed for a neighbour in it
// (access_guard.h).
void append(Bytes& all, const TensorView& view) {
  all.insert(all.end(), view.data, view.data + view.bytes());
}

}  // namespace

RemoteBackend::RemoteBackend(const BackendContext& context, std::uint32_t endpoint)
    : OrderedBackend("sim", context, context.endpoint), endpoint_(endpoint) {}

std::string RemoteBackend::algorithm_for(const Operation& operation) const {
  if (!is_collective(operation.kind)) return {};
  Reply reply = Question(Verb::algorithm).with(endpoint_).with(question_of(context_, operation)).ask();
  return std::string(reply.reader.text());
}

void RemoteBackend::execute(const Operation& operation) {
  Bytes given;
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) append(given, operation.inputs[i]);
  if (works_in_place(operation.kind)) append(given, operation.outputs[0]);
  Question(Verb::collective).with(endpoint_).with(question_of(context_, operation)).ask(given);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < operation.outputs.size(); ++i) bytes += operation.outputs[i].bytes();
  Bytes got(bytes);
  TaskChannel::current().receive(got);
  const std::byte* from = got.data();
  for (std::size_t i = 0; i < operation.outputs.size(); ++i) {
    const TensorView to = operation.outputs[i];
    std::copy_n(from, to.bytes(), to.data);
    from += to.bytes();
  }
}

}  // namespace dist::sim
