#include "judge/runner.h"

#include <cstdlib>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string_view>

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include "dist/core/error.h"
#include "dist/core/todo.h"
#include "dist/simulate/remote/rank.h"

#include "judge/last_words.h"

namespace judge {
namespace {

Json nonce;  // of the task

Json failure(std::string_view code, const char* what, bool todo) {
  return {{"error", {{"code", code}, {"what", what}, {"todo", todo}}}};
}

// The code of an error in a reply.
dist::Errc code_of(const Json& error) {
  for (int code = 0; code < static_cast<int>(dist::Errc::internal); ++code) {
    if (error.at("code") == name(static_cast<dist::Errc>(code))) return static_cast<dist::Errc>(code);
  }
  return dist::Errc::internal;
}

// Runs the task as a rank of the grader's simulation.
Json handle_simulated(const std::function<Json(const Json& task)>& handle, const Json& task) {
  if (task.at("eager")) ::setenv("DIST_SEND", "eager", 1);
  Json reply;
  std::exception_ptr fault;
  const auto as_rank = [&](int) {
    try {
      reply = handle(task);
    } catch (...) {
      fault = std::current_exception();
      throw;
    }
    if (reply.contains("error")) {
      const Json& error = reply["error"];
      throw dist::Error(code_of(error), error.at("what"));
    }
  };
  try {
    dist::sim::run_as_rank(dist::UniqueFd(line_fd), as_rank);
  } catch (const dist::Error& error) {
    return failure(name(error.code()), error.what(), false);  // the simulation has ended this rank
  }
  if (fault) std::rethrow_exception(fault);
  return reply;
}

}  // namespace

int serve(const std::function<Json(const Json& task)>& handle) {
  ::fcntl(channel_fd, F_SETFD, FD_CLOEXEC);
  if (!write_frame(channel_fd, {{"ready", true}})) return 2;
  const auto order = read_frame(channel_fd);
  if (!order) return 2;  // no more tasks: the grader has gone
  nonce = order->at("nonce");
  give_last_words(nonce.get<std::string>());
  try {
    const Json& task = order->at("task");
    const Json reply = task.value("simulated", false) ? handle_simulated(handle, task) : handle(task);
    if (!write_frame(channel_fd, {{"nonce", nonce}, {"reply", reply}})) return 2;
  } catch (const std::exception& error) {
    write_frame(channel_fd, {{"nonce", nonce}, {"fault", error.what()}});
    return 3;
  }
  return write_frame(channel_fd, {{"nonce", nonce}, {"done", true}}) ? 0 : 2;
}

Json fetch(const Request& request) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  std::optional<Json> frame;
  if (write_frame(channel_fd, {{"nonce", nonce}, {"of", request.of}, {"index", request.index}}))
    frame = read_frame(channel_fd);
  if (!frame) throw std::runtime_error("the grader is gone");
  return std::move(frame->at("piece"));
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
