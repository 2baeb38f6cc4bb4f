// clang-format off
        give_up_registers<kProducerRegisters>();
