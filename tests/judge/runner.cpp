#include "judge/runner.h"

#include <fcntl.h>

namespace judge {

int serve(const std::function<Json(const Json& task)>& handle) {
  ::fcntl(channel_fd, F_SETFD, FD_CLOEXEC);
  if (!write_frame(channel_fd, {{"ready", true}})) return 2;
  const auto order = read_frame(channel_fd);
  if (!order) return 2;  // nobody asks: the judge has gone
  const Json nonce = order->at("nonce");
  try {
    if (!write_frame(channel_fd, {{"nonce", nonce}, {"reply", handle(order->at("task"))}})) return 2;
  } catch (const std::exception& error) {
    write_frame(channel_fd, {{"nonce", nonce}, {"fault", error.what()}});
    return 3;
  }
  return write_frame(channel_fd, {{"nonce", nonce}, {"done", true}}) ? 0 : 2;
}

}  // namespace judge
