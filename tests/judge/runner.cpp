#include "judge/runner.h"

#include <exception>
#include <string_view>

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include "dist/core/error.h"
#include "dist/core/todo.h"

namespace judge {
namespace {

Json failure(std::string_view code, const char* what, bool todo) {
  return {{"error", {{"code", code}, {"what", what}, {"todo", todo}}}};
}

}  // namespace

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

Json attempt(const std::function<Json()>& graded) {
  try {
    return {{"value", graded()}};
  } catch (const dist::Todo& todo) {
    return failure(name(todo.code()), todo.what(), true);
  } catch (const dist::Error& e) {
    return failure(name(e.code()), e.what(), false);
  } catch (const std::exception& e) {
    return failure("exception", e.what(), false);
  }
}

}  // namespace judge
