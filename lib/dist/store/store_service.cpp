// StoreService: one function per request, the clients that wait and the keys they wait for, and the clock
// that ends waits. It knows nothing of sockets.
#include "dist/store/store_service.h"

#include <algorithm>

#include "dist/core/fail.h"

namespace dist {

using wire::Command, wire::Reader, wire::Status, wire::Writer;

void StoreService::handle(ClientId from, ConstBytes request, Answers& answers) {
  Reader in(request);
  auto answer = [&](Writer&& writer) { answers.push_back({from, writer.finish()}); };
  auto or_refuse = [&](auto&& change) {
    try {
      change();
    } catch (const Error& error) {
      answer(std::move(Writer(Status::invalid).put(std::string_view(error.what()))));
    }
  };
  const auto code = static_cast<Command>(in.get<std::uint8_t>());
  switch (code) {
    case Command::set:
    case Command::append: {
      const auto key = in.text();
      const auto value = in.bytes();
      in.expect_end();
      return or_refuse([&] {
        const bool is_all = code == Command::set;
        const Bytes whole = is_all ? Bytes(value.begin(), value.end()) : appended(key, map_.find(key), value);
        answer(Writer(Status::ok));
        put(key, whole, answers);
      });
    }
    case Command::get: {
      std::vector<std::string> keys{std::string(in.text())};
      const auto time_left = in.get<std::int64_t>();
      in.expect_end();
      return start_waiting(from, std::move(keys), true, time_left, answers);
    }
    case Command::add: {
      const auto key = in.text();
      const auto delta = in.get<std::int64_t>();
      in.expect_end();
      return or_refuse([&] {
        const std::int64_t sum = add_to(key, map_.find(key), delta);
        answer(std::move(Writer(Status::ok).put(sum)));
        put(key, to_bytes(std::to_string(sum)), answers);
      });
    }
    case Command::compare_set: {
      const auto key = in.text();
      const auto expected = in.bytes(), desired = in.bytes();
      in.expect_end();
      if (matches(map_.find(key), expected)) put(key, desired, answers);
      const Bytes* now = map_.find(key);
      return answer(std::move(Writer(Status::ok).put(now ? ConstBytes(*now) : ConstBytes())));
    }
    case Command::wait:
    case Command::multi_get: {
      auto keys = in.texts();
      const auto time_left = in.get<std::int64_t>();
      in.expect_end();
      return start_waiting(from, std::move(keys), code == Command::multi_get, time_left, answers);
    }
    case Command::check: {
      const auto keys = in.texts();
      in.expect_end();
      return answer(std::move(Writer(Status::ok).put(map_.missing(keys).empty())));
    }
    case Command::remove: {
      const auto key = in.text();
      in.expect_end();
      return answer(std::move(Writer(Status::ok).put(map_.remove(key))));
    }
    case Command::num_keys: in.expect_end(); return answer(std::move(Writer(Status::ok).put(map_.size())));
  }
  fail(Errc::connection, "request {} is unknown", static_cast<int>(code));
}

void StoreService::execute_will(const std::string& key, const std::string& value, Answers& answers) {
  if (!map_.find(key)) put(key, std::as_bytes(std::span(value)), answers);
}

void StoreService::put(std::string_view key, ConstBytes value, Answers& answers) {
  map_.set(key, value);
  auto found = blocked_.find(std::string(key));
  if (found == blocked_.end()) return;
  const auto clients = std::move(found->second);
  blocked_.erase(found);
  for (ClientId client : clients) resume(client, answers);
}

void StoreService::start_waiting(ClientId from, std::vector<std::string> keys, bool wants_values,
                                 std::int64_t time_left, Answers& answers) {
  constexpr Timeout century = std::chrono::hours(24 * 365 * 100);  // beyond it, sums of times overflow
  const bool forever = time_left < 0 || Timeout(time_left) > century;
  const auto until = forever ? Clock::time_point::max() : Clock::now() + Timeout(time_left);
  waiters_.insert_or_assign(from, Waiter{std::move(keys), wants_values, until, {}});
  resume(from, answers);
  if (is_waiting(from)) expiry_ = std::min(expiry_, until);
}

void StoreService::resume(ClientId client, Answers& answers) {
  auto it = waiters_.find(client);
  Waiter& waiter = it->second;
  auto missing = std::ranges::find_if(waiter.keys, [&](const auto& key) { return !map_.find(key); });
  if (missing != waiter.keys.end()) {
    waiter.blocked_on = *missing;
    blocked_[*missing].push_back(client);
    return;
  }
  Writer reply(Status::ok);
  if (waiter.wants_values)
    for (const auto& key : waiter.keys) reply.put(ConstBytes(*map_.find(key)));
  answers.push_back({client, reply.finish()});
  waiters_.erase(it);
}

void StoreService::unblock(ClientId client, const Waiter& waiter) {
  auto found = blocked_.find(waiter.blocked_on);
  std::erase(found->second, client);
  if (found->second.empty()) blocked_.erase(found);
}

void StoreService::forget(ClientId client) {
  auto it = waiters_.find(client);
  if (it == waiters_.end()) return;
  unblock(client, it->second);
  waiters_.erase(it);
}

void StoreService::expire(Clock::time_point now, Answers& answers) {
  if (now < expiry_) return;
  expiry_ = Clock::time_point::max();
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    const auto& [client, waiter] = *it;
    if (waiter.until > now) {
      expiry_ = std::min(expiry_, waiter.until);
      ++it;
      continue;
    }
    answers.push_back({client, Writer(Status::timeout).put(map_.missing(waiter.keys)).finish()});
    unblock(client, waiter);
    it = waiters_.erase(it);
  }
}

}  // namespace dist
