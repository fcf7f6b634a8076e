// Kept: what a layer's forward() keeps for its backward(), first in, first out. Each backward() takes the
// oldest one, so each forward() has one backward().
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace dist::nn {

class Module;

// The part of a Kept that its module uses, for all Kept below it (Module::set_forwards_kept, forget).
class KeptBase {
 public:
  explicit KeptBase(Module& owner);     // a member of `owner`, which it registers with
  explicit KeptBase(const char* owner)  // of something that is not a module; for messages
      : name_(owner) {}
  virtual ~KeptBase() = default;
  KeptBase(const KeptBase&) = delete;
  KeptBase& operator=(const KeptBase&) = delete;
  virtual void set_depth(std::size_t depth) = 0;  // drops the oldest ones beyond it
  virtual void forget_last() = 0;                 // drops the last forward()'s; nothing where there is none
  virtual void forget_all() = 0;
  // From the next keep() on, what is kept now is dropped.
  virtual void expect_new_step() = 0;
  virtual std::size_t size() const = 0;  // the forwards that have had no backward()

 protected:
  [[noreturn]] void fail_empty() const;

 private:
  Module* module_ = nullptr;
  const char* name_ = nullptr;
};

template <class T>
class Kept final : public KeptBase {
 public:
  using KeptBase::KeptBase;

  // Returns the value that it drops: with the initial depth of 1, that of the last forward(), if it had no
  // backward().
  std::optional<T> keep(T value) {
    std::optional<T> gone;
    while (old_ > 0) (void)pop();
    if (values_.size() >= depth_) gone = pop();
    values_.push_back(std::move(value));
    return gone;
  }
  // Throws Error{invalid_argument} if every forward() has had its backward().
  T take() {
    if (values_.empty()) fail_empty();
    return pop();
  }
  void set_depth(std::size_t depth) override {
    depth_ = depth;
    while (values_.size() > depth_) (void)pop();
  }
  void forget_last() override {
    if (!values_.empty()) values_.pop_back();
    old_ = std::min(old_, values_.size());
  }
  void forget_all() override { values_.clear(), old_ = 0; }
  void expect_new_step() override { old_ = values_.size(); }
  std::size_t size() const override { return values_.size(); }

 private:
  T pop() {
    T oldest = std::move(values_.front());
    values_.pop_front();
    if (old_ > 0) --old_;
    return oldest;
  }
  std::deque<T> values_;
  std::size_t depth_ = 1;
  std::size_t old_ =
      0;  // of the values, from the front: those of a step that was given up if another forward comes
};

}  // namespace dist::nn
