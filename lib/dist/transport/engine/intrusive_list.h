// A doubly linked list through members of its elements: it allocates nothing, and removes from the middle. An
// element can be in as many lists at once as it has pairs of such members.
#pragma once

namespace dist::net {

template <class T, T* T::*next = &T::next, T* T::*prev = &T::prev>
class IntrusiveList {
 public:
  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_; }

  void push_back(T& item) {
    item.*prev = last_;
    item.*next = nullptr;
    (last_ ? last_->*next : first_) = &item;
    last_ = &item;
  }

  void remove(T& item) {
    (item.*prev ? (item.*prev)->*next : first_) = item.*next;
    (item.*next ? (item.*next)->*prev : last_) = item.*prev;
    item.*prev = item.*next = nullptr;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace dist::net
