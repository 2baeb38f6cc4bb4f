#include <jitgemm/jitgemm.hpp>

#include <iostream>

int main() {
    const jitgemm::GemmSpec spec{.m = 1000, .n = 777, .k = 555};
    std::cout << to_string(resolved(spec)) << '\n';
    try {
        std::cout << jitgemm::Context().kernel(spec).info().name << '\n';
    } catch (const jitgemm::Error& error) {  // no driver, device or NVRTC here
        std::cout << error.what() << '\n';
    }
}
