// clang-format off
        take_registers<kConsumerRegisters>();
