// A doubly linked list through the elements' own `next` and `prev`: no allocation, removal from the middle.
#pragma once

namespace dist::net {

template <class T>
class IntrusiveList {
 public:
  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_; }

  void push_back(T& item) {
    item.prev = last_;
    item.next = nullptr;
    (last_ ? last_->next : first_) = &item;
    last_ = &item;
  }

  void remove(T& item) {
    (item.prev ? item.prev->next : first_) = item.next;
    (item.next ? item.next->prev : last_) = item.prev;
    item.prev = item.next = nullptr;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace dist::net
