// Store: a small map shared by all ranks of a job, through which they find each other before any connection
// exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/core/deadline.h"

namespace dist {

using Bytes = std::vector<std::byte>;           // a value
using ConstBytes = std::span<const std::byte>;  // a value that is not owned

// The bytes of a text, and back.
Bytes to_bytes(std::string_view text);
std::string to_string(ConstBytes bytes);  // the text that these bytes are

// Thread-safe. Values are opaque bytes; the counters of add() are decimal text, as in torch's stores. Every
// call throws Error{connection}, which names the store's address, when the store is gone.
class Store {
 public:
  virtual ~Store() = default;

  // Creates `key` with this value, or replaces its value.
  virtual void set(std::string_view key, ConstBytes value) = 0;
  void set(std::string_view key, std::string_view text);  // the same
  // Blocks until `key` exists. Throws Error{timeout}, which names the key and how long it waited.
  virtual Bytes get(std::string_view key, Deadline deadline) = 0;
  std::string get_text(std::string_view key, Deadline deadline);  // the same, as text
  // Adds `delta` to the counter `key` (0 if absent) and returns the sum. Throws Error{invalid_argument} if
  // the value there is not a number.
  virtual std::int64_t add(std::string_view key, std::int64_t delta) = 0;
  // Sets `key` to `desired` if its value is `expected`, or if it is absent and `expected` is empty. Returns
  // the value that is there afterwards (empty if the key is still absent).
  virtual Bytes compare_set(std::string_view key, ConstBytes expected, ConstBytes desired) = 0;
  // Adds these bytes at the end of the value of `key` (empty if it is absent), whoever else appends to it at
  // the same time. Throws Error{unsupported} where a store of your own has not implemented it.
  virtual void append(std::string_view key, ConstBytes value);
  void append(std::string_view key, std::string_view text);  // the same
  // Blocks until all keys exist. Throws Error{timeout}, which names the missing ones.
  virtual void wait(std::span<const std::string> keys, Deadline deadline) = 0;
  virtual bool check(std::span<const std::string> keys) = 0;  // whether all of them exist now
  virtual bool remove(std::string_view key) = 0;              // returns whether it existed
  virtual std::int64_t num_keys() = 0;                        // how many exist now
  // The store's address, for messages: "tcp://127.0.0.1:29500".
  virtual std::string where() const = 0;
  // Blocks until all keys exist, and returns their values in this order: one request, where get() of each
  // would be one per key. Throws Error{timeout}, which names missing ones.
  virtual std::vector<Bytes> multi_get(std::span<const std::string> keys, Deadline deadline);
  // Sets keys[i] to values[i]. Throws Error{invalid_argument} if there are not as many values as keys.
  virtual void multi_set(std::span<const std::string> keys, std::span<const Bytes> values);

  // First-in first-out queues, which any rank may fill and empty. A queue has a few keys under "<key>/".
  void queue_push(std::string_view key, ConstBytes value);
  void queue_push(std::string_view key, std::string_view text);  // the same
  // Takes the oldest value; blocks until there is one. Ranks that wait get theirs in the order in which they
  // came. Throws Error{timeout}; then no value is lost. A process that is killed while it waits takes the
  // value that is pushed for it with it.
  Bytes queue_pop(std::string_view key, Deadline deadline);
  // How many values wait to be taken; 0 while ranks wait for values.
  std::int64_t queue_len(std::string_view key);
};

// All keys of `inner` under "<prefix>/": jobs and groups that share a store do not see each other's keys.
class PrefixStore final : public Store {
 public:
  // `inner` stays alive as long as this.
  PrefixStore(std::string prefix, std::shared_ptr<Store> inner);
  using Store::append;
  using Store::set;
  void set(std::string_view key, ConstBytes value) override;
  Bytes get(std::string_view key, Deadline deadline) override;
  std::vector<Bytes> multi_get(std::span<const std::string> keys, Deadline deadline) override;
  std::int64_t add(std::string_view key, std::int64_t delta) override;
  Bytes compare_set(std::string_view key, ConstBytes expected, ConstBytes desired) override;
  void append(std::string_view key, ConstBytes value) override;
  void wait(std::span<const std::string> keys, Deadline deadline) override;
  bool check(std::span<const std::string> keys) override;
  bool remove(std::string_view key) override;
  std::int64_t num_keys() override;  // those of the whole inner store
  std::string where() const override;

 private:
  std::string full(std::string_view key) const;
  std::vector<std::string> full(std::span<const std::string> keys) const;
  std::string prefix_;
  std::shared_ptr<Store> inner_;
};

}  // namespace dist
